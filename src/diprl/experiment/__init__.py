"""Experiments: grids of runs, records of what they gave, and the tables and figures made from records alone."""

"""Exact reasoning about single decisions: linear inequalities over rationals, regions, distances, polytopes."""

"""A program acting on its task step after step: dynamics, simulation and enclosures of all reachable states."""

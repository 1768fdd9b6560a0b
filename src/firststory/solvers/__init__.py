"""The papers' optimisation problems, arrays only. Each returns its solution with objective and violation."""

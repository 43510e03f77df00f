"""The formulas in NumPy and float64, forward and backward. Imports nothing else of the project."""

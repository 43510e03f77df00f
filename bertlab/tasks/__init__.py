"""What stands on top of BERT: one trunk, small heads, and the measures of each task."""

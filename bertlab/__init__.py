"""bertlab: the tested package behind the notebooks of a course on BERT."""

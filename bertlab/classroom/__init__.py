"""What stands behind a lesson: exercise checks that name the likely mistake."""

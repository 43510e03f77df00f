"""Settings of nbgrader for the two assignments: `nbgrader` reads them when it is called in this folder."""

c = get_config()  # noqa: F821 - nbgrader gives it

c.CourseDirectory.course_id = "bert"
c.ClearSolutions.code_stub = {"python": "# your code here\nraise NotImplementedError"}
c.ExecutePreprocessor.timeout = 600  # seconds a cell may take
c.ExecutePreprocessor.startup_timeout = 300
c.ClearHiddenTests.enforce_metadata = True

"""`twinstep init`: the files of a new project, from templates."""

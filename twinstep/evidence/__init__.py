"""`twinstep evidence`: one document of every committed result, each number read from its file."""

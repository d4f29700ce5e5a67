"""`twinstep bench` and `twinstep breakdown`: speed side by side with the reference."""

"""Bridge to Gymnasium's HalfCheetah-v5 on MuJoCo. No rule of the task is written down here."""

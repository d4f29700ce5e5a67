"""EnvPool's environments in C++ against those that they port."""

"""Other toolkits that train on a CPU: how each is installed, told what to train, and read."""

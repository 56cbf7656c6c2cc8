"""What is asked of a program: specifications are read here and checked against the program."""

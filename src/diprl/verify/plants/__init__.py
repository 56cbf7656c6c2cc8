"""Plants: how states follow each other, given as text files; CartPole, MountainCar, Pendulum and Acrobot are here."""

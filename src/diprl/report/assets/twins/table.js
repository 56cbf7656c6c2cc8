// The tasks that can be played in a page.

const TWINS = {
  "CartPole-v1": () => CARTPOLE,
  "Acrobot-v1": () => ACROBOT,
  "MountainCar-v0": () => MOUNTAIN_CAR,
  "MountainCarContinuous-v0": () => MOUNTAIN_CAR_CONTINUOUS,
  "Pendulum-v1": () => PENDULUM,
  "DoorKey-5x5": () => doorKey(5),
  "DoorKey-6x6": () => doorKey(6),
  "DoorKey-8x8": () => doorKey(8),
};

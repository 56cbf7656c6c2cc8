// MiniGrid's DoorKey as diprl's programs perceive it: fetch the key, unlock the door, reach the goal.
//
// The state is x, y, direction (right, down, left, up), the key's x and y (−1 while carried), the door
// (0 open, 1 closed, 2 locked), its row, the column of the wall, and the steps taken.

const [X, Y, DIRECTION, KEY_X, KEY_Y, DOOR, DOOR_Y, WALL_X, STEPS] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

function doorKey(size) {
  const corner = size - 2, horizon = 10 * size * size;
  const ahead = (state) => [state[X] + [1, 0, -1, 0][state[DIRECTION]], state[Y] + [0, 1, 0, -1][state[DIRECTION]]];
  const isWall = (state, x, y) =>
    x === 0 || y === 0 || x === size - 1 || y === size - 1 || (x === state[WALL_X] && y !== state[DOOR_Y]);
  const isDoor = (state, x, y) => x === state[WALL_X] && y === state[DOOR_Y];
  const isKey = (state, x, y) => x === state[KEY_X] && y === state[KEY_Y];
  const isBlocked = (state, x, y) =>
    isWall(state, x, y) || isKey(state, x, y) || (isDoor(state, x, y) && state[DOOR] !== 0);
  return {
    horizon,
    speed: 6,
    /** MiniGrid draws cells until one is free; the goal lies on the other side of the wall. */
    reset(random) {
      const wall = random.integer(2, size - 2);
      const free = (taken) => {
        for (;;) {
          const x = random.integer(0, wall), y = random.integer(0, size);
          if (x > 0 && y > 0 && y < size - 1 && !(taken && x === taken[0] && y === taken[1])) return [x, y];
        }
      };
      const agent = free(null), direction = random.integer(0, 4), doorRow = random.integer(1, size - 2);
      const key = free(agent);
      return Float64Array.of(...agent, direction, ...key, 2, doorRow, wall, 0);
    },
    observe(state, seen) {
      const [x, y] = ahead(state), forward = [x - state[X], y - state[Y]];
      const open = state[DOOR] === 0, carrying = state[KEY_X] === -1, fetch = state[DOOR] === 2 && !carrying;
      const goal = open ? [corner, corner] : fetch ? [state[KEY_X], state[KEY_Y]] : [state[WALL_X], state[DOOR_Y]];
      const offset = [goal[0] - state[X], goal[1] - state[Y]];
      seen[0] = carrying ? 1 : 0;
      seen[1] = open ? 1 : 0;
      seen[2] = (offset[0] * forward[0] + offset[1] * forward[1]) / 4;
      seen[3] = (offset[1] * forward[0] - offset[0] * forward[1]) / 4;
      seen[4] = isBlocked(state, x, y) ? 1 : 0;
      seen[5] = isKey(state, x, y) ? 1 : 0;
      seen[6] = isDoor(state, x, y) && !open ? 1 : 0;
    },
    step(state, action) {
      const [x, y] = ahead(state), carrying = state[KEY_X] === -1;
      state[STEPS] += 1;
      if (action === 0 || action === 1) state[DIRECTION] = (state[DIRECTION] + (action ? 1 : 3)) % 4;
      else if (action === 2 && !isBlocked(state, x, y)) [state[X], state[Y]] = [x, y];
      else if (action === 3 && isKey(state, x, y)) state[KEY_X] = state[KEY_Y] = -1;
      else if (action === 4 && carrying && !isWall(state, x, y) && !isDoor(state, x, y) && !(x === corner && y === corner)) {
        [state[KEY_X], state[KEY_Y]] = [x, y];
      } else if (action === 5 && isDoor(state, x, y) && (carrying || state[DOOR] !== 2)) state[DOOR] = state[DOOR] === 0 ? 1 : 0;
      return this.done(state) ? 1 - 0.9 * (state[STEPS] / horizon) : 0;
    },
    done(state) { return state[X] === corner && state[Y] === corner; },
    draw(state, pen) {
      const cell = 190 / size, left = 160 - 95, at = (x, y) => [left + x * cell, 5 + y * cell];
      for (let x = 0; x < size; x++) {
        for (let y = 0; y < size; y++) {
          const [a, b] = at(x, y);
          if (isDoor(state, x, y)) pen.box([a + 1, b + 1], cell - 2, cell - 2, state[DOOR] === 0 ? "open" : "door", 2);
          else if (isWall(state, x, y)) pen.box([a, b], cell, cell, "wall", 1);
          else if (x === corner && y === corner) pen.box([a + 2, b + 2], cell - 4, cell - 4, "goal", 3);
          else if (isKey(state, x, y)) {
            pen.circle([a + cell * 0.38, b + cell / 2], cell * 0.16, "key");
            pen.line([a + cell * 0.54, b + cell / 2], [a + cell * 0.8, b + cell / 2], "key");
          }
        }
      }
      const [a, b] = at(state[X] + 0.5, state[Y] + 0.5), turn = (state[DIRECTION] * Math.PI) / 2;
      pen.polygon([0, 2.45, 3.83].map((angle) => [
        a + cell * 0.36 * Math.cos(turn + angle), b + cell * 0.36 * Math.sin(turn + angle)]), "body");
      if (state[KEY_X] === -1) pen.circle([a, b], cell * 0.12, "key");
    },
  };
}

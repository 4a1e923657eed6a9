"""What the peers of `npm run bench -- ppo-cartpole` share."""

import json
import time
from collections import deque

GOAL = 475


class Watch:
    """Wall-clock until the mean of the last 20 training episodes is 475, seen after each update, as for all."""

    def __init__(self):
        self.returns = deque(maxlen=20)
        self.best = None
        self.steps_to_goal = None
        self.seconds_to_goal = None
        self.start = time.perf_counter()

    def look(self, steps):
        """After an update, at so many environment steps."""
        if len(self.returns) < 20:
            return
        mean = sum(self.returns) / 20
        self.best = mean if self.best is None else max(self.best, mean)
        if self.steps_to_goal is None and mean >= GOAL:
            self.steps_to_goal = steps
            self.seconds_to_goal = time.perf_counter() - self.start

    def report(self, name, steps, **more):
        seconds = time.perf_counter() - self.start
        found = {
            "name": name,
            "envSteps": steps,
            "seconds": seconds,
            "stepsToGoal": self.steps_to_goal,
            "secondsToGoal": self.seconds_to_goal,
            "best20": self.best,
        }
        print(json.dumps({**found, **more}))

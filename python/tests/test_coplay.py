"""Tests of the Python package: `python -m unittest discover python/tests`, with pettingzoo and gymnasium installed."""
import os
import subprocess
import sys
import types
import unittest
import warnings

import coplay
import numpy as np

GAMES = [
    *[("stag-hunt", {"size": 8}), ("snowdrift", {}), ("matrix", {}), ("gym-hunt", {}), ("pendulum", {})],
    *[("overcooked", {}), ("level-foraging", {}), ("simple-spread", {}), ("simple-tag", {"continuous_actions": True})],
]


def is_running(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class PettingZoo(unittest.TestCase):
    def test_parallel_api(self):
        from pettingzoo.test import parallel_api_test

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for game, options in GAMES:
                for flat in (False, True):
                    with self.subTest(game, flat=flat):
                        env = coplay.parallel_env(game, flat=flat, **options)
                        parallel_api_test(env, num_cycles=60)
                        env.close()

    def test_seeds(self):
        from pettingzoo.test import parallel_seed_test

        for game, options in GAMES:
            with self.subTest(game):
                parallel_seed_test(lambda: coplay.parallel_env(game, **options), num_cycles=20)

    def test_max_cycles(self):
        from pettingzoo.test.max_cycles_test import max_cycles_test

        max_cycles_test(
            types.SimpleNamespace(
                parallel_env=lambda max_cycles: coplay.parallel_env("stag-hunt", size=8, max_steps=max_cycles),
                env=lambda max_cycles: coplay.aec_env("stag-hunt", size=8, max_steps=max_cycles),
            )
        )

    def test_aec_api(self):
        from pettingzoo.test import api_test

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # boxes without bounds
            api_test(coplay.aec_env("stag-hunt", size=4, flat=True), num_cycles=50)

    def test_what_it_shows(self):
        env = coplay.parallel_env("stag-hunt", size=4, agents=2, stags=1, hares=1, max_steps=3)
        observations, infos = env.reset(seed=1)
        self.assertEqual(sorted(observations["agent_0"]), ["planes", "time"])
        self.assertTrue(env.observation_space("agent_0").contains(observations["agent_0"]))
        self.assertEqual(infos["agent_0"]["action_mask"].shape, (7,))
        self.assertEqual(len(env.render().split("\n")), 4)
        for step in range(3):
            self.assertEqual(env.agents, ["agent_0", "agent_1"])
            # Action 4 is to stay: nobody hunts, until time is up.
            _, rewards, ends, cuts, infos = env.step({agent: 4 for agent in env.agents})
            self.assertEqual(ends, {"agent_0": False, "agent_1": False})
            self.assertEqual(cuts, {"agent_0": step == 2, "agent_1": step == 2})
            self.assertIn("illegal", infos["agent_0"])
        self.assertEqual(env.agents, [])
        self.assertEqual(env.step({}), ({}, {}, {}, {}, {}))


class Gymnasium(unittest.TestCase):
    def test_check_env(self):
        from gymnasium.utils.env_checker import check_env

        for game in ("pendulum", "cart-pole", "catch"):
            for flat in (False, True):
                with self.subTest(game, flat=flat), warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # boxes that aren't bounded by -1 and 1
                    check_env(coplay.gym_env(game, flat=flat), skip_render_check=True)

    def test_pendulum_is_gymnasiums(self):
        """Both start from the same state and get the same torques."""
        import gymnasium

        ours, theirs = coplay.gym_env("pendulum"), gymnasium.make("Pendulum-v1").unwrapped
        (seen, _), _ = ours.reset(seed=3), theirs.reset(seed=3)
        x, y, speed = seen["observation"] if isinstance(seen, dict) else seen
        theirs.state = np.array([np.arctan2(y, x), speed])
        for torque in (2.0, -1.0, 0.5, -2.0):
            action = np.array([torque], np.float32)
            found, reward, *_ = ours.step(action)
            expected, their_reward, *_ = theirs.step(action)
            np.testing.assert_allclose(found, expected, atol=1e-4)
            self.assertAlmostEqual(reward, their_reward, places=4)


class Batches(unittest.TestCase):
    def test_a_batch_is_its_environments(self):
        """Environment 0 of a batch plays as a batch of one with the same seed."""
        many = coplay.vector_env("stag-hunt", envs=3, seed=5, size=4, max_steps=4)
        one = coplay.vector_env("stag-hunt", envs=1, seed=5, size=4, max_steps=4)
        agents = len(one.agents)
        for step in range(9):
            np.testing.assert_array_equal(many.observations["planes"][0], one.observations["planes"][0])
            actions = np.full((3, agents), step % 5)
            many.step(actions)
            one.step(actions[:1])
            np.testing.assert_array_equal(many.rewards[0], one.rewards[0])
            self.assertEqual(many.ended.tolist(), [1, 1, 1] if step % 4 == 3 else [0, 0, 0])
        self.assertFalse(many.rewards.flags.writeable)

    def test_errors_name_what_is_wrong(self):
        with self.assertRaisesRegex(coplay.CoplayError, "unknown option \"sice\""):
            coplay.vector_env("stag-hunt", sice=3)
        with self.assertRaisesRegex(coplay.CoplayError, "a game of .*stag-hunt.* got \"chess\""):
            coplay.vector_env("chess")
        with coplay.vector_env("stag-hunt", envs=2, size=4, agents=2) as batch:
            with self.assertRaisesRegex(coplay.CoplayError, "an action from 0 to 6 for agent_1 in environment 1, got 9"):
                batch.step([[0, 0], [0, 9]])
            with self.assertRaisesRegex(coplay.CoplayError, r"actions of shape \(2, 2, 1\), got \(3,\)"):
                batch.step([1, 2, 3])
            batch.step([[0, 0], [0, 0]])  # nothing has changed
        with self.assertRaisesRegex(coplay.CoplayError, "has ended"):
            batch.step([[0, 0], [0, 0]])
        with self.assertRaisesRegex(coplay.CoplayError, "one agent, got 4"):
            coplay.gym_env("stag-hunt")

    def test_without_node(self):
        before = os.environ.get("NODE")
        os.environ["NODE"] = "/no/such/node"
        try:
            with self.assertRaisesRegex(coplay.CoplayError, "Install Node 20.*NODE"):
                coplay.games()
        finally:
            del os.environ["NODE"]
            if before is not None:
                os.environ["NODE"] = before

    def test_node_ends_with_python(self):
        script = (
            "import coplay, os, signal, sys; batch = coplay.vector_env('matrix');"
            "print(batch._node.process.pid, flush=True); {}"
        )
        for end in ("sys.exit()", "os._exit(1)", "os.kill(os.getpid(), signal.SIGKILL)"):
            with self.subTest(end):
                path = {"PYTHONPATH": os.pathsep.join(sys.path)}
                python = [sys.executable, "-c", script.format(end)]
                pid = int(subprocess.run(python, capture_output=True, env={**os.environ, **path}).stdout)
                for _ in range(200):
                    if not is_running(pid):
                        break
                    import time

                    time.sleep(0.05)
                self.assertFalse(is_running(pid))

    def test_sb3(self):
        try:
            import stable_baselines3 as sb3
        except ModuleNotFoundError:
            self.skipTest("stable-baselines3 isn't installed")
        env = coplay.sb3_env("stag-hunt", envs=2, size=4, agents=2, stags=1, hares=1, max_steps=5, seed=1)
        self.assertEqual(env.num_envs, 4)
        env.reset()
        for step in range(5):
            _, _, dones, infos = env.step(np.full(4, 4))
        self.assertTrue(dones.all())
        self.assertTrue(all(info["TimeLimit.truncated"] for info in infos))
        sb3.PPO("MlpPolicy", env, n_steps=8, batch_size=16, device="cpu").learn(64)


if __name__ == "__main__":
    unittest.main()

// Made by `npm run zoo`.
import type { ZooCard } from '../card';

export const CARDS: readonly ZooCard[] = [
  {
    "name": "cartpole/ppo",
    "game": {
      "name": "cart-pole",
      "options": {
        "maxSteps": 500
      }
    },
    "algorithm": "ppo",
    "configuration": {
      "game": {
        "name": "cart-pole"
      },
      "agents": {
        "kind": "ppo",
        "preset": "cartPole"
      },
      "envs": 8,
      "steps": 32,
      "seed": 1,
      "envSteps": 100000
    },
    "command": "npm run zoo -- cartpole/ppo",
    "commit": "c60422687767",
    "version": "0.1.0",
    "seed": 1,
    "envSteps": 100096,
    "return": {
      "mean": 500,
      "lower": 500,
      "upper": 500,
      "episodes": 1000
    },
    "byAgent": {
      "agent_0": 500
    },
    "bytes": 73110,
    "sha256": "813c88de29a49e63d4a1a07e300206328bc269d0eff0c9872570f378749692eb"
  },
  {
    "name": "matrix-stag-hunt/ppo",
    "game": {
      "name": "matrix-stag-hunt",
      "options": {
        "kind": "stag-hunt",
        "maxSteps": 10
      }
    },
    "algorithm": "ppo",
    "configuration": {
      "game": {
        "name": "matrix",
        "kind": "stag-hunt",
        "maxSteps": 10
      },
      "agents": {
        "kind": "ppo",
        "preset": "stagHunt"
      },
      "envs": 32,
      "steps": 20,
      "seed": 1,
      "envSteps": 50000
    },
    "command": "npm run zoo -- matrix-stag-hunt/ppo",
    "commit": "c60422687767",
    "version": "0.1.0",
    "seed": 1,
    "envSteps": 50560,
    "return": {
      "mean": 19.981,
      "lower": 19.97,
      "upper": 19.991,
      "episodes": 1000
    },
    "byAgent": {
      "agent_0": 19.988,
      "agent_1": 19.974
    },
    "bytes": 146940,
    "sha256": "02b7f5f090217b0adc7140c0f35531557c2988919ca94b12ece3e9a2611751d7"
  },
  {
    "name": "snowdrift/ppo",
    "game": {
      "name": "snowdrift",
      "options": {
        "size": 6,
        "agents": 4,
        "drifts": 6,
        "maxSteps": 50,
        "driftReward": 6,
        "shovelCost": 4,
        "obstaclePieces": 0
      }
    },
    "algorithm": "ppo",
    "configuration": {
      "game": {
        "name": "snowdrift",
        "size": 6
      },
      "agents": {
        "kind": "shared-ppo",
        "ppo": {
          "learningRate": {
            "from": 0.001,
            "to": 0
          },
          "entropyWeight": 0.02,
          "valueClip": false
        },
        "inputs": {
          "previousActions": true
        },
        "reward": "prosocial"
      },
      "envs": 32,
      "steps": 32,
      "seed": 1,
      "envSteps": 60000
    },
    "command": "npm run zoo -- snowdrift/ppo",
    "commit": "c60422687767",
    "version": "0.1.0",
    "seed": 1,
    "envSteps": 60416,
    "return": {
      "mean": 29.929999998688697,
      "lower": 29.889999999046324,
      "upper": 29.964999998807908,
      "episodes": 1000
    },
    "byAgent": {
      "agent_0": 29.761666665554046,
      "agent_1": 29.94699999856949,
      "agent_2": 30.004999998569488,
      "agent_3": 30.006333332061768
    },
    "bytes": 195718,
    "sha256": "18a12662d5699b6d604fdf29fd19ffdaaf73fe0317cfab31454677f73c526516"
  },
  {
    "name": "stag-hunt-4x4/hop",
    "game": {
      "name": "stag-hunt",
      "options": {
        "size": 4,
        "agents": 4,
        "stags": 1,
        "hares": 4,
        "maxSteps": 35,
        "stagReward": 10,
        "hareReward": 1,
        "stepReward": 0,
        "stagNeedsPartner": false,
        "preyMoves": 0,
        "stepsAfterFirstHunt": false,
        "viewRadius": false,
        "previousActions": false,
        "obstaclePieces": 0,
        "strengths": [
          1,
          1,
          1,
          1
        ]
      }
    },
    "algorithm": "hop",
    "configuration": {
      "game": {
        "name": "stag-hunt",
        "size": 4,
        "agents": 4,
        "stags": 1,
        "hares": 4
      },
      "curriculum": {
        "partnerChance": {
          "from": 1,
          "to": 0,
          "by": 0.35
        }
      },
      "agents": {
        "kind": "hop",
        "network": {
          "kind": "mlp",
          "hidden": [
            64,
            64
          ]
        },
        "moa": {
          "network": {
            "kind": "mlp",
            "hidden": [
              64,
              64
            ]
          }
        },
        "search": {
          "trees": 1,
          "simulations": 20,
          "exploration": 20,
          "rationality": 15
        },
        "hop": {
          "minibatches": 32,
          "learningRate": 0.001
        }
      },
      "envs": 128,
      "steps": 8,
      "seed": 1,
      "envSteps": 61440
    },
    "command": "npm run zoo -- stag-hunt-4x4/hop",
    "commit": "d6d09f4b1cf6",
    "version": "0.1.0",
    "seed": 1,
    "envSteps": 61440,
    "return": {
      "mean": 2.899749983370304,
      "lower": 2.886499982473254,
      "upper": 2.911749983072281,
      "episodes": 1000
    },
    "byAgent": {
      "agent_0": 2.90183331656456,
      "agent_1": 2.830666650056839,
      "agent_2": 3.0598333158493043,
      "agent_3": 2.8066666510105134
    },
    "bytes": 571632,
    "sha256": "c166ba097c0a107c18657cd39b46225aa05b539739a87210a594d505660df8dc"
  },
  {
    "name": "stag-hunt-4x4/ppo",
    "game": {
      "name": "stag-hunt",
      "options": {
        "size": 4,
        "agents": 4,
        "stags": 1,
        "hares": 4,
        "maxSteps": 35,
        "stagReward": 10,
        "hareReward": 1,
        "stepReward": 0,
        "stagNeedsPartner": false,
        "preyMoves": 0,
        "stepsAfterFirstHunt": false,
        "viewRadius": false,
        "previousActions": false,
        "obstaclePieces": 0,
        "strengths": [
          1,
          1,
          1,
          1
        ]
      }
    },
    "algorithm": "ppo",
    "configuration": {
      "game": {
        "name": "stag-hunt",
        "size": 4,
        "agents": 4,
        "stags": 1,
        "hares": 4
      },
      "agents": {
        "kind": "ppo",
        "preset": "stagHunt",
        "network": {
          "kind": "mlp",
          "hidden": [
            64,
            64
          ]
        }
      },
      "envs": 32,
      "steps": 32,
      "seed": 1,
      "envSteps": 300000
    },
    "command": "npm run zoo -- stag-hunt-4x4/ppo",
    "commit": "c60422687767",
    "version": "0.1.0",
    "seed": 1,
    "envSteps": 300032,
    "return": {
      "mean": 2.8454999844431876,
      "lower": 2.8359999837219716,
      "upper": 2.855249984446168,
      "episodes": 1000
    },
    "byAgent": {
      "agent_0": 2.8653333177566527,
      "agent_1": 2.9009999845027923,
      "agent_2": 2.816666650533676,
      "agent_3": 2.7989999849796297
    },
    "bytes": 201584,
    "sha256": "304cb4e406ac3864f48201cde9262db76724686610e49574ce856d5ba9336273"
  },
  {
    "name": "two-stags/ppo",
    "game": {
      "name": "stag-hunt",
      "options": {
        "size": 4,
        "agents": 4,
        "stags": 2,
        "hares": 4,
        "maxSteps": 35,
        "stagReward": 10,
        "hareReward": 1,
        "stepReward": 0,
        "stagNeedsPartner": false,
        "preyMoves": 0,
        "stepsAfterFirstHunt": false,
        "viewRadius": false,
        "previousActions": false,
        "obstaclePieces": 0,
        "strengths": [
          1,
          1,
          1,
          1
        ]
      }
    },
    "algorithm": "ppo",
    "configuration": {
      "game": {
        "name": "stag-hunt",
        "size": 4,
        "agents": 4,
        "stags": 2,
        "hares": 4
      },
      "agents": {
        "kind": "ppo",
        "preset": "stagHunt",
        "network": {
          "kind": "mlp",
          "hidden": [
            64,
            64
          ]
        }
      },
      "envs": 32,
      "steps": 32,
      "seed": 1,
      "envSteps": 300000
    },
    "command": "npm run zoo -- two-stags/ppo",
    "commit": "c60422687767",
    "version": "0.1.0",
    "seed": 1,
    "envSteps": 300032,
    "return": {
      "mean": 4.727499994158745,
      "lower": 4.679999992905557,
      "upper": 4.7749999953508375,
      "episodes": 1000
    },
    "byAgent": {
      "agent_0": 4.722499994277954,
      "agent_1": 4.712499994516373,
      "agent_2": 4.715833327770233,
      "agent_3": 4.759166660070419
    },
    "bytes": 201584,
    "sha256": "f618935208b16ecb948e80b99b7978e4812abb43fdc2841fba1594655f56dd4f"
  }
];

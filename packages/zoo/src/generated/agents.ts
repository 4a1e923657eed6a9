// Made by `npm run zoo`.
export const AGENTS = {
  'cartpole/ppo': () => import('./cartpole-ppo'),
  'matrix-stag-hunt/ppo': () => import('./matrix-stag-hunt-ppo'),
  'snowdrift/ppo': () => import('./snowdrift-ppo'),
  'stag-hunt-4x4/hop': () => import('./stag-hunt-4x4-hop'),
  'stag-hunt-4x4/ppo': () => import('./stag-hunt-4x4-ppo'),
  'two-stags/ppo': () => import('./two-stags-ppo'),
};

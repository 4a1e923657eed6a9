import { zooCards } from '@coplay/zoo';
import { type Doors, door } from './doors';

const [{ name }] = zooCards();

/** The public functions of the zoo, with valid arguments. */
export const zooDoors: Doors = {
  zoo: door(() => [name]),
  zooCard: door(() => [name], [], {}, ['zoo']),
  zooCards: 'takes nothing',
};

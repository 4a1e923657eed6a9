import { textTable } from '@coplay/diagnostics';
import { zooCard, zooCards } from '@coplay/zoo';
import { answer, command, EXIT, JSON_FLAG } from '../command';

/** `coplay zoo` */
export const zooCommand = command({
  usage: 'zoo [NAME]',
  summary: 'Lists the trained agents of @coplay/zoo, or shows the card of some.',
  words: { least: 0, most: 1 },
  flags: { ...JSON_FLAG },
  async run([name], flags, terminal) {
    if (name === undefined) {
      const cards = zooCards();
      answer(terminal, flags, cards, () => {
        const rows = cards.map(({ name, envSteps, return: { mean, lower, upper }, bytes }) => {
          return { name, steps: envSteps, return: mean, lower, upper, kB: Math.round(bytes / 1000) };
        });
        return `${textTable(rows)}\nIn a script: await zoo('${cards[0]!.name}'). A card: coplay zoo NAME`;
      });
    } else {
      const card = zooCard(name);
      answer(terminal, flags, card, () => JSON.stringify(card, null, 2));
    }
    return EXIT.ok;
  },
});

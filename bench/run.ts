import { fileURLToPath } from 'node:url';
import { main } from './harness';

// npm run bench -- NAME [options]
await main({ kind: 'bench', folder: fileURLToPath(new URL('.', import.meta.url)) }, process.argv.slice(2));

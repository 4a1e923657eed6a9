import { showEmbedded } from './embedded';

void showEmbedded();

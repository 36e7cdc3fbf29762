/** `npm run generate`: writes what `generated.ts` derives from the rules' folders. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { currentText, generatedFiles, root } from "./generated";

for (const [file, text] of generatedFiles()) {
  if (currentText(file) === text) continue;
  writeFileSync(path.join(root, file), text);
  console.log(`wrote ${file}`);
}

import * as vscode from "vscode";
import { closeEverything, extensionId, setting } from "./editor";
import { ask, pictureName, themes } from "./pictures";

const steps = ["open", "fix", "header", "model", "timeline", "workspace", "ci"];

describe("the walkthrough", () => {
  before(function () {
    if (process.env["VRAMLINT_PICTURES"] === undefined) this.skip();
  });
  after(closeEverything);

  for (const [shade, theme] of Object.entries(themes)) {
    it(`shows a picture for each of its steps in ${shade}`, async () => {
      await setting("workbench.colorTheme", theme);
      await ask({ size: "1280x800" });
      for (const step of steps) {
        await closeEverything();
        await vscode.commands.executeCommand(
          "workbench.action.openWalkthrough",
          { category: `${extensionId}#start`, step },
          false,
        );
        const name = `[data-step-id="${extensionId}#start#${step}"].expanded`;
        await ask({ wait: name });
        await ask({
          in: "walkthrough",
          wait: "body > svg, body h3",
          look: pictureName(`walkthrough-${step}`, shade),
        });
      }
    });
  }
});

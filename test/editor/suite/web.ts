/**
 * What VS Code runs in its web worker for extensions: no Node, so no mocha and no `node:assert`. The result is posted to
 * an address of the launcher.
 */
import * as vscode from "vscode";

/** Set by the bundler. */
declare const RESULT_ADDRESS: string;

const extensionId = "vramlint.vramlint";
const limit = 60_000;

const faulty = `import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(1000, 1000)
        self.head = nn.Linear(1000, 10)

    def forward(self, x):
        return self.head(torch.relu(self.fc(x)))


def evaluate(model, loader):
    model.eval()
    correct = 0
    for data, target in loader:
        output = model(data)
        correct += output.argmax(dim=1).eq(target).sum().item()
    return correct
`;

interface Check {
  readonly title: string;
  run(): Promise<void>;
}

let document: vscode.TextDocument;

const checks: readonly Check[] = [
  {
    title: "starts in the worker, not in a process",
    async run() {
      const extension = vscode.extensions.getExtension(extensionId);
      expect(extension !== undefined, "the extension is there");
      document = await vscode.workspace.openTextDocument({ language: "python", content: faulty });
      await vscode.window.showTextDocument(document);
      await extension?.activate();
      expect(extension?.isActive === true, "it is active");
      expect(vscode.env.uiKind === vscode.UIKind.Web, "this is a browser");
      expect(nodeVersion() === undefined, "there is no Node");
    },
  },
  {
    title: "reports evaluation with gradients on",
    async run() {
      const found = await until(() => {
        const ours = vscode.languages
          .getDiagnostics(document.uri)
          .filter(({ source }) => source === "vramlint");
        return ours.length > 0 ? ours : undefined;
      }, "a finding");
      const rules = found.map(({ code }) => String(typeof code === "object" ? code.value : code));
      expect(rules.join() === "eval-without-no-grad", `the findings are ${rules.join()}`);
    },
  },
  {
    title: "shows the parameters of a model",
    async run() {
      const line = faulty.split("\n").findIndex((text) => text.startsWith("class Net"));
      const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
        "vscode.executeHoverProvider",
        document.uri,
        new vscode.Position(line, 7),
      );
      const text = hovers
        .flatMap(({ contents }) => contents)
        .map((content) => (content instanceof vscode.MarkdownString ? content.value : ""))
        .join("\n");
      // 1000 × 1000 + 1000, and 1000 × 10 + 10.
      expect(text.includes("1,011,010"), `the hover is ${text}`);
    },
  },
  {
    title: "starts its worker again",
    async run() {
      const gone = vscode.languages.getDiagnostics(document.uri).length;
      expect(gone > 0, "there was something to lose");
      await vscode.commands.executeCommand("vramlint.restart");
      await until(
        () =>
          vscode.languages.getDiagnostics(document.uri).some(({ source }) => source === "vramlint") ||
          undefined,
        "a finding after the restart",
      );
    },
  },
  {
    title: "opens the example",
    async run() {
      await vscode.commands.executeCommand("vramlint.openExample");
      const example = vscode.window.activeTextEditor?.document;
      expect(example !== undefined && example !== document, "another document is in front");
      await until(
        () =>
          vscode.languages
            .getDiagnostics(example?.uri ?? document.uri)
            .some(({ source }) => source === "vramlint") || undefined,
        "findings in the example",
      );
    },
  },
];

/** VS Code calls it inside its worker. */
export async function run(): Promise<void> {
  const lines: string[] = [];
  const failures: string[] = [];
  for (const check of checks) {
    const title = `in the browser ${check.title}`;
    try {
      await check.run();
      lines.push(`  ✔ ${title}`);
    } catch (error) {
      failures.push(title);
      lines.push(
        `  ✖ ${title}\n      ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
    }
  }
  const passed = checks.length - failures.length;
  const result = { passed, failed: failures.length, skipped: 0, failures, report: lines.join("\n") };
  await fetch(RESULT_ADDRESS, { method: "POST", body: JSON.stringify(result) });
  if (failures.length > 0) throw new Error(`${failures.length} failed`);
}

function nodeVersion(): string | undefined {
  const scope = globalThis as { readonly process?: { readonly versions?: { readonly node?: string } } };
  return scope.process?.versions?.node;
}

function expect(condition: boolean, what: string): void {
  if (!condition) throw new Error(`not so: ${what}`);
}

/** Looks again whenever diagnostics change. */
function until<Value>(look: () => Value | undefined, what: string): Promise<Value> {
  return new Promise((resolve, reject) => {
    const attempt = (): void => {
      const value = look();
      if (value === undefined) return;
      clearTimeout(timer);
      subscription.dispose();
      resolve(value);
    };
    const timer = setTimeout(() => {
      subscription.dispose();
      reject(new Error(`${what}: not within ${limit} ms`));
    }, limit);
    const subscription = vscode.languages.onDidChangeDiagnostics(attempt);
    attempt();
  });
}

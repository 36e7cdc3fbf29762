import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { TemporaryFolder } from "../unit/workspace/folder";
import { pullCapabilities, TestClient } from "./support/test-client";

const train = `import torch
from utils import evaluate

model = torch.nn.Linear(4, 4)
history = []
for epoch in range(10):
    history.append(evaluate(model, data))
`;

const utils = `import torch


@torch.no_grad()
def evaluate(model, batch):
    return model(batch).sum()
`;

describe("imported files in the editor", () => {
  let client: TestClient;
  let folder: TemporaryFolder;
  const uriOf = (name: string): string => pathToFileURL(folder.join(name)).href;
  const codes = async (): Promise<unknown[]> =>
    (await client.pull(uriOf("train.py"))).map(({ code }) => code).sort();
  const refreshed = async (): Promise<void> => {
    await client.until(() => (client.refreshed.diagnostics > 0 ? true : undefined));
  };
  beforeEach(async () => {
    folder = new TemporaryFolder({ "utils.py": utils });
    client = await TestClient.start({
      capabilities: {
        ...pullCapabilities,
        workspace: { ...pullCapabilities.workspace, didChangeWatchedFiles: { dynamicRegistration: true } },
      },
      folders: [pathToFileURL(folder.join("")).href],
    });
    await client.open(uriOf("train.py"), train);
    assert.deepEqual(await codes(), []);
  });
  afterEach(() => {
    client.kill();
    folder.remove();
  });

  it("count as they stand in the editor: an unsaved edit changes what is said of who imports them", async () => {
    await client.open(uriOf("utils.py"), utils);
    await client.replace(uriOf("utils.py"), "@torch.no_grad()\n", "");
    await refreshed();
    assert.deepEqual(await codes(), ["loss-graph-retained"]);
    await client.close(uriOf("utils.py"));
    assert.deepEqual(await codes(), []);
  });

  it("are looked at again when they change on disk", async () => {
    folder.write("utils.py", utils.replace("@torch.no_grad()\n", ""));
    await client.connection.sendNotification("workspace/didChangeWatchedFiles", {
      changes: [{ uri: uriOf("utils.py"), type: 2 }],
    });
    await refreshed();
    assert.deepEqual(await codes(), ["loss-graph-retained"]);
  });
});

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import type { MarkupContent } from "vscode-languageserver/node";
import { TemporaryFolder } from "../unit/workspace/folder";
import { plain, TestClient } from "./support/test-client";

const script = `import torch
import zoo

model = zoo.net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
`;

describe("the interpreter that the client names", () => {
  let client: TestClient;
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = new TemporaryFolder({
      "conda/lib/python3.12/site-packages/zoo/__init__.py":
        "from torch import nn\n\ndef net():\n    return nn.Linear(3, 2)\n",
      "conda/lib/python3.12/site-packages/zoo-1.0.dist-info/METADATA":
        "Metadata-Version: 2.1\nName: zoo\nRequires-Dist: torch\n",
    });
    client = await TestClient.start({ folders: [pathToFileURL(folder.join("")).href] });
  });
  afterEach(() => {
    client.kill();
    folder.remove();
  });

  it("gives the packages that models come from", async () => {
    const uri = pathToFileURL(folder.join("train.py")).href;
    await client.open(uri, script);
    const text = async (): Promise<string> => {
      const hover = await client.hover(uri, client.positionOf(uri, "zoo.net()", 5));
      return hover === null ? "" : plain(hover.contents as MarkupContent);
    };
    assert.doesNotMatch(await text(), /8 parameters/);
    await client.connection.sendNotification("vramlint/interpreter", {
      path: folder.join("conda/bin/python"),
    });
    assert.match(await text(), /8 parameters/);
    await client.connection.sendNotification("vramlint/interpreter", {});
    assert.doesNotMatch(await text(), /8 parameters/);
  });
});

import { commands, ExtensionContext, window, workspace } from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

// The server belongs to a machine and not to a folder, so one serves all folders of a window.
function newClient(): LanguageClient {
  const settings = workspace.getConfiguration("frontmatter");
  return new LanguageClient(
    "frontmatter",
    "SQL front matter",
    {
      command: settings.get<string>("path", "frontmatter"),
      args: ["lsp", ...settings.get<string[]>("arguments", [])],
    },
    {
      documentSelector: [
        { language: "sql" },
        { scheme: "file", pattern: "**/*.sql" },
        { scheme: "file", pattern: "**/frontmatter.yaml" },
      ],
      synchronize: { fileEvents: workspace.createFileSystemWatcher("**/{*.sql,frontmatter.yaml}") },
    },
  );
}

async function start(): Promise<void> {
  client = newClient();
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const choice = await window.showErrorMessage(
      `The frontmatter program could not be started: ${error}. Install it, or set frontmatter.path.`,
      "Open settings",
    );
    if (choice !== undefined) {
      await commands.executeCommand("workbench.action.openSettings", "frontmatter.path");
    }
  }
}

export async function activate(context: ExtensionContext): Promise<void> {
  context.subscriptions.push(
    commands.registerCommand("frontmatter.restart", async () => {
      await client?.stop();
      await start();
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

package io.kamille.launcher.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A text that somebody changes in the editor of their choice. */
final class EditorDraft {

  private EditorDraft() {}

  /** A file that had this text when the editor began. Only the user may read it. */
  static Path edited(String text) throws CommandFailure {
    try {
      Path draft = Files.createTempFile("kamille-", ".yaml");
      Files.writeString(draft, text);
      // EDITOR may have arguments, as git reads it.
      Process editor =
          new ProcessBuilder("sh", "-c", editor() + " \"$1\"", "edit", draft.toString())
              .inheritIO()
              .start();
      if (editor.waitFor() != 0) {
        throw new CommandFailure(
            ExitCode.UNAVAILABLE, "the editor failed; your text is kept in " + draft);
      }
      return draft;
    } catch (IOException failed) {
      throw new CommandFailure(ExitCode.UNREADABLE, "no draft: " + failed.getMessage());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new CommandFailure(ExitCode.SIGNAL, "interrupted");
    }
  }

  private static String editor() {
    String visual = System.getenv("VISUAL");
    String plain = System.getenv("EDITOR");
    return visual != null && !visual.isBlank()
        ? visual
        : plain != null && !plain.isBlank() ? plain : "vi";
  }

  /** Removes a draft that nobody needs any more. */
  static void remove(Path draft) throws CommandFailure {
    try {
      Files.deleteIfExists(draft);
    } catch (IOException failed) {
      throw new CommandFailure(ExitCode.UNREADABLE, draft + " stays: " + failed.getMessage());
    }
  }
}

package io.kamille.launcher.cli;

import io.kamille.admin.auth.AuditLog;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code kamille audit}: the record of changes. */
@Command(name = "audit", description = "Check the record of who changed what.")
final class AuditCommand extends Subcommand {

  @Command(
      description = "Check that no line of the audit log was changed or removed in the middle.")
  int verify(
      @Mixin StateOption state,
      @Parameters(
              paramLabel = "FILE",
              arity = "0..1",
              description = "The log (default: that of the running appliance).")
          @Nullable Path file)
      throws CommandFailure {
    Path log = file == null ? state.directory().resolve("audit.jsonl") : file;
    try {
      AuditLog.Verdict verdict = AuditLog.verify(log);
      out().println(log + ": " + verdict.lines() + " lines are right");
      if (verdict.trouble() != null) {
        throw new CommandFailure(ExitCode.DATA, log + ": " + verdict.trouble());
      }
      out().println("last digest: " + verdict.hash());
      return ExitCode.OK;
    } catch (IOException unreadable) {
      throw new CommandFailure(ExitCode.UNREADABLE, "cannot read " + log);
    }
  }
}

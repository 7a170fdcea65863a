package io.kamille.launcher.cli;

import io.kamille.admin.auth.Scope;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code kamille token}: who may use the API of the running appliance. */
@Command(name = "token", description = "Make, list and revoke tokens for the API.")
final class TokenCommand extends Subcommand {

  @Command(description = "Make a token and print its secret, which is kept nowhere.")
  void create(
      @Mixin StateOption state,
      @Parameters(paramLabel = "NAME", description = "What it is for.") String name,
      @Option(
              names = "--scope",
              defaultValue = "read",
              description = "read, operate, admin or purge (default: ${DEFAULT-VALUE}).")
          Scope scope,
      @Option(
              names = "--days",
              defaultValue = "90",
              description = "How long it is valid (default: ${DEFAULT-VALUE}).")
          int days)
      throws CommandFailure {
    Map<String, Object> order = new LinkedHashMap<>();
    order.put("name", name);
    order.put("scope", scope.token());
    order.put("days", days);
    JsonNode created = state.json("POST", "/v1/tokens", order);
    out().println(text(created, "token"));
    // The token alone goes to the standard output.
    away(created, err());
  }

  @Command(description = "List the tokens, without their secrets.")
  void list(@Mixin StateOption state) throws CommandFailure {
    row("ID", "SCOPE", "EXPIRES", "LAST USED", "NAME");
    for (JsonNode token : state.json("GET", "/v1/tokens", null).path("tokens")) {
      row(
          text(token, "id"),
          text(token, "scope"),
          text(token, "expires"),
          token.path("lastUsed").stringValue("never"),
          text(token, "name"));
    }
  }

  private void row(Object... columns) {
    out().printf(Locale.ROOT, "%-10s %-8s %-22s %-22s %s%n", columns);
  }

  @Command(description = "Revoke a token at once.")
  void revoke(
      @Mixin StateOption state,
      @Parameters(paramLabel = "ID", description = "As list shows it.") String id)
      throws CommandFailure {
    if (!id.matches("[A-Za-z0-9]+")) {
      throw new CommandFailure(ExitCode.USAGE, "an ID has letters and digits only");
    }
    JsonNode revoked = state.json("DELETE", "/v1/tokens/" + id, null);
    out().println("revoked " + id);
    away(revoked, out());
  }

  private static void away(JsonNode answer, PrintWriter to) {
    for (JsonNode node : answer.path("nodes").values()) {
      if (text(node, "state").equals("away")) {
        to.println("not yet at " + text(node, "node") + ", which is away");
      }
    }
  }
}

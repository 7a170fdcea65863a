package io.kamille.launcher.configuration;

import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The control plane's own listener.
 *
 * @param address empty for none
 * @param tokenFile holds the bearer token; created at first start
 */
public record AdminSettings(Optional<HostPort> address, boolean mayBeRemote, Path tokenFile) {

  static final Setting<Optional<HostPort>> ADDRESS =
      Setting.of(
              "admin.address",
              ValueTypes.orWord("off", ValueTypes.address()),
              "Where health, metrics and the API are served, or `off`. Not the address of a listener."
                  + " Keep it on loopback: the API can purge the cache.")
          .defaultsTo(Optional.of(new HostPort("127.0.0.1", 9090)))
          .appliesOnRestart();

  static final Setting<Boolean> ALLOW_REMOTE =
      Setting.of(
              "admin.allow-remote",
              ValueTypes.onOff(),
              "Whether `admin.address` may be reached from other machines. The token travels in clear:"
                  + " turn it on only where the network is trusted.")
          .defaultsTo(false)
          .appliesOnRestart();

  static final Setting<Path> TOKEN_FILE =
      Setting.of(
              "admin.token-file",
              ValueTypes.file(),
              "The file with the bearer token that changes through the API require. Created with mode"
                  + " 0600 and a random token at first start.")
          .defaultsTo(
              "`admin-token` in `$STATE_DIRECTORY` (set by systemd), else in"
                  + " `~/.local/state/kamille`",
              values -> stateDirectory().resolve("admin-token"))
          .appliesOnRestart();

  static final Section SECTION =
      Section.one(
          "admin",
          "Health, metrics and the API, on a listener of their own.",
          ADDRESS,
          ALLOW_REMOTE,
          TOKEN_FILE);

  static AdminSettings of(SectionValues values) {
    return new AdminSettings(
        values.value(ADDRESS), values.value(ALLOW_REMOTE), values.value(TOKEN_FILE));
  }

  private static Path stateDirectory() {
    String directory = System.getenv("STATE_DIRECTORY");
    return directory != null && !directory.isEmpty()
        ? Path.of(directory)
        : Path.of(System.getProperty("user.home"), ".local", "state", "kamille");
  }
}

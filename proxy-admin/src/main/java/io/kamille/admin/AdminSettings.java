package io.kamille.admin;

import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;
import io.kamille.core.tls.TlsSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * The control plane's own listener. Immutable.
 *
 * @param address port 0 takes any free one; empty for no control plane
 * @param allowsRemote whether an address beyond loopback is meant: without TLS the token travels in
 *     clear
 * @param tokenFile holds the bearer token; created if missing
 * @param configWrites whether the configuration may be changed through the API
 * @param requestSamples how many requests of each loop are kept to look at, each second; 0 for none
 * @param tls of the listener; the local socket has none
 * @param answerLimit the longest from accept or one complete answer to the next, before the
 *     connection is closed
 */
public record AdminSettings(
    Optional<HostPort> address,
    boolean allowsRemote,
    Path tokenFile,
    boolean configWrites,
    int requestSamples,
    TlsSettings tls,
    Duration answerLimit) {

  private static final int REQUEST_SAMPLES = 20;
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(75);

  public static final Setting<Optional<HostPort>> ADDRESS =
      Setting.of(
              "address",
              ValueTypes.orWord("off", ValueTypes.address()),
              "The address that serves health, metrics and the API, or `off`. Not the address of a"
                  + " listener. Keep it on loopback: the API can purge the cache.")
          .defaultsTo(Optional.of(new HostPort("127.0.0.1", 9090)))
          .appliesOnRestart();

  public static final Setting<Boolean> ALLOW_REMOTE =
      Setting.of(
              "allow-remote",
              ValueTypes.onOff(),
              "Whether `admin.address` may be reached from other machines. Without `admin.tls` the"
                  + " token travels in clear: turn it on only where the network is trusted.")
          .defaultsTo(false)
          .appliesOnRestart();

  /** How the control plane speaks TLS. */
  public static final Subsection<TlsSettings> TLS =
      TlsSettings.ADMIN_SECTION
          .one(
              "tls",
              "TLS of the control plane, as that of a listener. `client-certificates: required`"
                  + " lets only clients with a certificate ask; they need a token, too. The"
                  + " local socket of the command line has no TLS.")
          .withShorthand(TlsSettings.SOURCE);

  public static final Setting<Path> TOKEN_FILE =
      Setting.of(
              "token-file",
              ValueTypes.file(),
              "The file with the bearer token that changes through the API require. Created"
                  + " with mode 0600 and a random token at first start.")
          .defaultsTo(
              "`admin-token` in `$STATE_DIRECTORY` (set by systemd), else in"
                  + " `~/.local/state/kamille`",
              values -> StateDirectory.path().resolve("admin-token"))
          .appliesOnRestart();

  public static final Section<AdminSettings> SECTION =
      Section.of(
          AdminSettings.class,
          ADDRESS,
          ALLOW_REMOTE,
          TOKEN_FILE,
          Setting.of(
                  "config-writes",
                  ValueTypes.onOff(),
                  "Whether the configuration may be changed through the API. Off, the file is the"
                      + " only way, and the API shows it: for machines whose files come from"
                      + " somewhere else.")
              .defaultsTo(true)
              .appliesOnRestart(),
          Row.fixed(REQUEST_SAMPLES),
          TLS,
          Row.fixed(ANSWER_LIMIT));
}

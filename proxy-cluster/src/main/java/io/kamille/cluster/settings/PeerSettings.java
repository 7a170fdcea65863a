package io.kamille.cluster.settings;

import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How nodes ask one another for responses.
 *
 * @param address of the listener for other nodes; null if nodes do not ask one another
 * @param copies what is stored of what another node owns
 * @param connectTimeout after so long without a connection, or twice as long without a sign of
 *     life, the next node or the origin is asked
 */
public record PeerSettings(@Nullable HostPort address, Copies copies, Duration connectTimeout) {

  /** What a node stores of what another one owns. */
  public enum Copies {
    /** What it is asked for twice in a minute. */
    HOT,
    ALL,
    NONE
  }

  public static final Setting<HostPort> ADDRESS =
      Setting.of(
              "address",
              ValueTypes.address(),
              "Where other nodes ask this one, by HTTP/2 with certificates on both sides.")
          .orElse("nodes do not ask one another")
          .appliesOnRestart();

  /** Nodes in two regions are within it, there and back. */
  private static final Duration CONNECT_TIMEOUT = Duration.ofMillis(250);

  static final Section<PeerSettings> SECTION =
      Section.of(
          PeerSettings.class,
          ADDRESS,
          Setting.of(
                  "copies",
                  ValueTypes.oneOf(Copies.values()),
                  "What a node stores of what another one owns: `hot` is what it is asked for twice"
                      + " in a minute.")
              .defaultsTo(Copies.HOT)
              .appliesOnRestart(),
          Row.fixed(CONNECT_TIMEOUT));
}

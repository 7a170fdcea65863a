package io.kamille.core.origin.names;

import io.kamille.core.origin.OriginProtocol;
import io.kamille.core.origin.OriginSettings;
import java.util.List;

/** Origins that a place outside names. After trouble there, what it named last stays. */
abstract class WatchedOrigins implements OriginList {

  static final System.Logger LOG = System.getLogger("kamille.upstream");

  final String upstream;
  final OriginProtocol protocol;
  // Volatile: replaced by who looks, read by any thread.
  volatile List<OriginSettings> origins = List.of();
  volatile List<String> problems = List.of();
  private final Kind kind;
  private final String place;

  /**
   * None before the first look.
   *
   * @param upstream its name, for the log
   * @param protocol in which they are asked
   */
  WatchedOrigins(Kind kind, String place, String upstream, OriginProtocol protocol) {
    this.kind = kind;
    this.place = place;
    this.upstream = upstream;
    this.protocol = protocol;
  }

  @Override
  public final Kind kind() {
    return kind;
  }

  @Override
  public final String place() {
    return place;
  }

  @Override
  public final List<OriginSettings> origins() {
    return origins;
  }

  @Override
  public final List<String> problems() {
    return problems;
  }
}

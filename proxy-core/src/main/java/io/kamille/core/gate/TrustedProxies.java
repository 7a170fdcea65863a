package io.kamille.core.gate;

import io.kamille.core.http.FieldName;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Proxies in front of a listener that say whose requests they send. Immutable; any thread.
 *
 * @param from their addresses; none if nobody is believed
 * @param field by which they name clients
 */
public record TrustedProxies(AddressRanges from, FieldName field) {

  private static final ValueType<AddressRanges> RANGES =
      ValueTypes.list(
              "list of addresses",
              TrustedProxies::range,
              AddressRange::toString,
              "an IP address, or a range such as 10.0.0.0/8; all addresses would let each client"
                  + " pretend to be another")
          .map(AddressRanges::of, AddressRanges::ranges);

  public static final Section<TrustedProxies> SECTION =
      Section.of(
          TrustedProxies.class,
          Setting.of(
                  "from",
                  RANGES,
                  "Addresses and ranges of the proxies, but of no client. Kamille reads"
                      + " `trusted-proxies.field` from the right, past these addresses. The first"
                      + " other address is the client. It counts for `routes[].access`,"
                      + " `cache.purge-from`, rates, limits, logs, traces and forwarding fields."
                      + " The scheme and the host come along. Applies to new connections.")
              .defaultsTo("none", values -> AddressRanges.NONE),
          Setting.of(
                  "field",
                  ValueTypes.oneOf(
                      List.of(
                          Map.entry("x-forwarded-for", FieldName.X_FORWARDED_FOR),
                          Map.entry("forwarded", FieldName.FORWARDED))),
                  "The field by which the proxies name the client: `x-forwarded-for` with"
                      + " `X-Forwarded-Proto` and `X-Forwarded-Host`, or `forwarded` (RFC 7239)."
                      + " Kamille removes the other one.")
              .defaultsTo(FieldName.X_FORWARDED_FOR));

  /** Nobody is believed. */
  public static final TrustedProxies NONE = SECTION.defaults();

  private static @Nullable AddressRange range(String text) {
    AddressRange range = AddressRange.parse(text);
    return range == null || range.isWholeFamily() ? null : range;
  }

  /** What reads the requests of a connection with this other end; null if nobody is believed. */
  public @Nullable ForwardedReader reader(InetSocketAddress peer) {
    return from.isEmpty() ? null : new ForwardedReader(from, field, peer);
  }
}

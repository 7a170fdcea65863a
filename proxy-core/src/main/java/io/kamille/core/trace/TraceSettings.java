package io.kamille.core.trace;

import io.kamille.core.gate.AddressRanges;
import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.net.URI;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which exchanges are recorded step by step, and where that goes. Immutable.
 *
 * @param ratio the share of exchanges
 * @param perSecond how many of each loop in a second, at the most
 * @param trust clients whose {@code traceparent} is believed
 * @param endpoint of a collector that speaks OTLP over HTTP; empty for none
 */
public record TraceSettings(
    double ratio, int perSecond, AddressRanges trust, Optional<URI> endpoint) {

  private static final int PER_SECOND = 10;

  /** Nothing is recorded unless somebody asks for it. */
  public static final TraceSettings OFF =
      new TraceSettings(0, PER_SECOND, AddressRanges.NONE, Optional.empty());

  public static final Section<TraceSettings> SECTION =
      Section.of(
          TraceSettings.class,
          Setting.of(
                  "ratio",
                  ValueTypes.ratio(),
                  "The share of requests that are recorded step by step. A request that is not"
                      + " recorded costs one comparison.")
              .defaultsTo(OFF.ratio()),
          Row.fixed(PER_SECOND),
          Setting.of(
                  "trust",
                  AddressRanges.TYPE,
                  "Clients, or trusted proxies, whose `traceparent` is believed: their trace goes on"
                      + " here, and a request is recorded if they record it. Others begin a trace of"
                      + " ours.")
              .defaultsTo("none", values -> AddressRanges.NONE),
          Setting.of(
                  "endpoint",
                  ValueTypes.orWord("off", collector()),
                  "The collector of recorded requests, as OTLP over HTTP with JSON, such as"
                      + " `http://127.0.0.1:4318/v1/traces`; or `off`.")
              .defaultsTo(OFF.endpoint())
              .appliesOnRestart());

  private static ValueType<URI> collector() {
    return new ValueType<>(
        "URL", "", "an http or https URL with a host", TraceSettings::parsed, URI::toString);
  }

  private static @Nullable URI parsed(String text) {
    try {
      URI uri = URI.create(text);
      String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
      boolean isHttp = scheme.equals("http") || scheme.equals("https");
      return isHttp && uri.getHost() != null && uri.getUserInfo() == null ? uri : null;
    } catch (IllegalArgumentException malformed) {
      return null;
    }
  }

  /** Whether any request may be recorded without somebody asking for it. */
  boolean isOn() {
    return ratio > 0 || !trust.isEmpty();
  }
}

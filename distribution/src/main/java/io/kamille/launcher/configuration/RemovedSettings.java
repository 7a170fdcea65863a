package io.kamille.launcher.configuration;

import io.kamille.core.setting.ConfigNode;
import io.kamille.core.setting.ConfigNode.Entry;
import io.kamille.core.setting.ConfigNode.Mapping;
import io.kamille.core.setting.ConfigNode.Scalar;
import io.kamille.core.setting.ConfigNode.Sequence;
import java.util.ArrayList;
import java.util.List;

/**
 * Settings that are gone. For one release a file may still have them: they are taken out before it
 * is read, with a warning each, so that an upgrade without an operator starts.
 */
final class RemovedSettings {

  /*
   * A row leaves this table in the release behind the one that it came with; its setting is then an
   * unknown key.
   */
  private static final List<Removed> ALL =
      List.of(
          setting(
              "routes[].cache.query.no-vary-search",
              "name the parameters in query.ignore or query.keep"),
          setting("engine.stall-limit", "turns of more than 250ms are stalls"),
          setting("listeners[].backlog", "it is 4096; the kernel's limit is net.core.somaxconn"),
          setting("listeners[].proxy-protocol.mode", "proxy-protocol.from alone turns it on"),
          setting("listeners[].tls.handshakes", "2048 may be under way"),
          setting("admin.tls.handshakes", "2048 may be under way"),
          setting("admin.tls.hsts", "the admin listener sends none"),
          setting("admin.tls.profile", "it offers TLS 1.2 and 1.3"),
          setting("admin.request-samples", "each loop keeps 20 a second"),
          setting("upstreams.*.max-waiting", "twice max-connections may wait"),
          setting("upstreams.*.max-idle-connections", "each loop keeps up to 128"),
          setting("upstreams.*.health.longest-out", "it is twelve times out-for"),
          setting("upstreams.*.health.slow-return", "it is twice out-for"),
          setting("upstreams.*.health.when-all-out", "origins that take connections are asked"),
          setting("forwarding.via", "the pseudonym is kamille"),
          setting("routes[].respond.retry-after", "set it in response-headers.set"),
          setting("cache.disk.send-from", "it is 1MiB"),
          setting("cache.disk.peak-hours", "set the mode by PUT /v1/cache/tiers from a timer"),
          setting("cache.compression.min-size", "it is 1KiB"),
          setting("cache.compression.max-size", "it is 8MiB"),
          setting("cache.heuristic.fraction", "it is 0.1"),
          setting("cache.heuristic.limit", "it is 24h"),
          setting("cache.collapse.wait-timeout", "it is 5s"),
          setting("cache.status-field", "the name is kamille"),
          setting("cache.status-key", "Explain shows the cache key"),
          setting("limits.request-target", "a target may take a quarter of limits.head-size"),
          setting("limits.response-fields", "it is 200"),
          setting("limits.upload-grace", "it is 20s; limits.upload-rate can be none"),
          setting("limits.download-grace", "it is 30s; limits.download-rate can be none"),
          setting("limits.client.ipv6-prefix", "it is 64"),
          setting("tracing.per-second", "each loop records 10 a second"),
          setting("log.access.buffer", "it is 1MiB for each loop"),
          new Removed(
              "tuning.policy",
              List.of("equal", "window"),
              "tuning.policy is kernel, which bounds what waits for each client"),
          setting("tuning.model", "throughput follows the law of the kernel in use"),
          setting("tuning.headroom", "a send buffer is twice throughput × round-trip time"),
          setting("tuning.period", "each connection that writes is looked at once a second"),
          setting("engine.least-saving", "adaptive pauses must save a tenth of the CPU time"),
          setting(
              "listeners[].tls.certificates[].ocsp",
              "Kamille staples no OCSP response; public authorities have ended OCSP"),
          setting(
              "admin.tls.certificates[].ocsp",
              "Kamille staples no OCSP response; public authorities have ended OCSP"));

  /**
   * What is gone.
   *
   * @param path as in the settings reference, such as {@code upstreams.*.max-waiting}; a section
   *     stands for all that is in it
   * @param values of the setting that are gone, or empty if all of it is
   * @param instead what holds now, as the end of a sentence
   */
  record Removed(String path, List<String> values, String instead) {}

  private static Removed setting(String path, String instead) {
    return new Removed(path, List.of(), instead);
  }

  /** The root of a file without what is gone, and a line for each of it. */
  record Cleaned(ConfigNode root, List<String> warnings) {}

  private final String file;
  private final List<String> warnings = new ArrayList<>();

  private RemovedSettings(String file) {
    this.file = file;
  }

  /** All rows, for the test that no setting is both here and in the reference. */
  static List<Removed> all() {
    return ALL;
  }

  static Cleaned clean(String file, ConfigNode root) {
    return clean(file, root, ALL);
  }

  static Cleaned clean(String file, ConfigNode root, List<Removed> rows) {
    var cleaning = new RemovedSettings(file);
    ConfigNode cleaned = root;
    for (Removed row : rows) {
      List<String> keys = List.of(row.path.replace("[]", ".[]").split("\\."));
      cleaned = cleaning.without(row, keys, "", cleaned);
    }
    return new Cleaned(cleaned, List.copyOf(cleaning.warnings));
  }

  /** The node without what the keys lead to from it. */
  private ConfigNode without(Removed row, List<String> keys, String path, ConfigNode node) {
    List<String> rest = keys.subList(1, keys.size());
    switch (node) {
      case Sequence list when keys.getFirst().equals("[]") -> {
        List<ConfigNode> items = new ArrayList<>();
        for (ConfigNode item : list.items()) {
          items.add(without(row, rest, path + "[" + items.size() + "]", item));
        }
        return new Sequence(List.copyOf(items), list.position());
      }
      case Mapping mapping -> {
        List<Entry> entries = new ArrayList<>();
        for (Entry entry : mapping.entries()) {
          String inside = path.isEmpty() ? entry.key() : path + "." + entry.key();
          boolean isOnTheWay = keys.getFirst().equals(entry.key()) || keys.getFirst().equals("*");
          if (!isOnTheWay) {
            entries.add(entry);
          } else if (!rest.isEmpty()) {
            ConfigNode value = without(row, rest, inside, entry.value());
            entries.add(new Entry(entry.key(), entry.position(), value));
          } else if (!isGone(row, entry.value())) {
            entries.add(entry);
          } else {
            warn(row, inside, entry);
          }
        }
        return new Mapping(List.copyOf(entries), mapping.position());
      }
      default -> {
        return node;
      }
    }
  }

  private static boolean isGone(Removed row, ConfigNode value) {
    return row.values.isEmpty()
        || (value instanceof Scalar scalar && row.values.contains(scalar.text()));
  }

  private void warn(Removed row, String path, Entry entry) {
    var at = row.values.isEmpty() ? entry.position() : entry.value().position();
    String what = row.values.isEmpty() ? path : path + ": " + ((Scalar) entry.value()).text();
    warnings.add(
        (at.file().isEmpty() ? file : at.file())
            + ":"
            + at.line()
            + ":"
            + at.column()
            + ": warning: "
            + what
            + " is gone and has no"
            + " effect; "
            + row.instead);
  }
}

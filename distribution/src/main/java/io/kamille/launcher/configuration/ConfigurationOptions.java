package io.kamille.launcher.configuration;

import io.kamille.admin.AdminSettings;
import io.kamille.cache.settings.MemorySettings;
import io.kamille.cache.settings.SharedCacheSettings;
import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.origin.UpstreamGroup;
import io.kamille.core.setting.Position;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.tls.TlsSettings;
import io.kamille.core.tls.TlsSettings.CertificateFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A configuration without a file: one listener, one origin, everything else by default. */
public final class ConfigurationOptions {

  private static final String ONLY_UPSTREAM = "origin";

  private final Problems problems = new Problems("command line");

  private ConfigurationOptions() {}

  /**
   * The configuration that these words of a command line ask for, or every problem with them.
   *
   * @param listen an address, as in {@code --listen 127.0.0.1:8080}
   * @param origin a URL, as in {@code --origin http://127.0.0.1:9000}, or a directory of files
   * @param admin an address or {@code off}; null for the default
   * @param memory a size; null for the default
   * @param loops how many event loops; null for the default
   * @param pacing how they pace themselves; null for the default
   * @param tls {@code CHAIN:KEY}, two files, or {@code self-signed}; null for clear text
   */
  public static ConfigurationReading parse(
      String listen,
      String origin,
      @Nullable String admin,
      @Nullable String memory,
      @Nullable String loops,
      @Nullable String pacing,
      @Nullable String tls) {
    var options = new ConfigurationOptions();
    var file = SectionValues.of(Configuration.file());

    var listener = file.child(Configuration.LISTENERS, "");
    options.put(listener, ListenerSettings.ADDRESS, "--listen", listen);
    options.putTls(listener, tls);
    file.add(Configuration.LISTENERS, listener.build());
    options.put(file, Configuration.LOOPS, "--loops", loops);
    var engine = file.child(Configuration.ENGINE, "");
    options.put(engine, PaceSettings.PACING, "--pacing", pacing);
    file.add(Configuration.ENGINE, engine.build());

    var route = file.child(Configuration.ROUTES, "");
    if (isDirectory(origin)) {
      options.put(route, RouteActions.ROOT, "--origin", origin);
    } else {
      var upstream = file.child(Configuration.UPSTREAMS, ONLY_UPSTREAM);
      var server = upstream.child(UpstreamGroup.ORIGINS, "");
      options.put(server, OriginSettings.URL, "--origin", origin);
      file.add(
          Configuration.UPSTREAMS, upstream.add(UpstreamGroup.ORIGINS, server.build()).build());
      route.put(RouteSettings.UPSTREAM, ONLY_UPSTREAM);
    }
    file.add(Configuration.ROUTES, route.build());

    var cache = file.child(Configuration.CACHE, "");
    var store = cache.child(SharedCacheSettings.MEMORY, "");
    options.put(store, MemorySettings.CAPACITY, "--memory", memory);
    file.add(Configuration.CACHE, cache.add(SharedCacheSettings.MEMORY, store.build()).build());

    var control = file.child(Configuration.ADMIN, "");
    options.put(control, AdminSettings.ADDRESS, "--admin", admin);
    file.add(Configuration.ADMIN, control.build());

    return CrossChecks.conclude(file.build(), options.problems);
  }

  private static boolean isDirectory(String origin) {
    return !origin.contains("://") && Files.isDirectory(Path.of(origin));
  }

  private void putTls(SectionValues.Builder listener, @Nullable String text) {
    if (text == null) {
      return;
    }
    var tls = listener.child(ListenerSettings.TLS, "");
    int colon = text.lastIndexOf(':');
    if (colon < 0) {
      put(tls, TlsSettings.SOURCE, "--tls", text);
    } else {
      var files = tls.child(TlsSettings.CERTIFICATES, "");
      put(files, CertificateFiles.CHAIN, "--tls", text.substring(0, colon));
      put(files, CertificateFiles.KEY, "--tls", text.substring(colon + 1));
      tls.add(TlsSettings.CERTIFICATES, files.build());
    }
    listener.add(ListenerSettings.TLS, tls.build());
  }

  private <T> void put(
      SectionValues.Builder values, Setting<T> setting, String option, @Nullable String text) {
    if (text == null) {
      return;
    }
    T value = setting.type().parse(text);
    if (value == null) {
      String expected = setting.type().expected();
      problems.add(Problem.Kind.VALUE, Position.NOWHERE, option, Problems.quote(text), expected);
    } else {
      values.put(setting, value);
    }
  }
}

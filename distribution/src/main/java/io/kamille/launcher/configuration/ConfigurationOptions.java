package io.kamille.launcher.configuration;

import io.kamille.admin.AdminSettings;
import io.kamille.cache.settings.MemorySettings;
import io.kamille.cache.settings.SharedCacheSettings;
import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.origin.UpstreamGroup;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Position;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.tls.TlsSettings;
import io.kamille.core.tls.TlsSettings.CertificateFiles;
import io.kamille.launcher.acme.AcmeSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A configuration without a file: one listener, one origin, everything else by default. */
public final class ConfigurationOptions {

  private static final String ONLY_UPSTREAM = "origin";
  private static final int HTTP_PORT = 80;

  private final Problems problems = new Problems("command line");

  private final Map<String, String> words;

  private ConfigurationOptions(Map<String, String> words) {
    this.words = words;
  }

  /**
   * The configuration that these words of a command line ask for, or every problem with them.
   *
   * @param words by option: {@code --listen}, an address, and {@code --origin}, a URL such as
   *     {@code http://127.0.0.1:9000} or a directory of files; perhaps {@code --admin}, an address
   *     or {@code off}, {@code --memory}, a size, {@code --loops}, their number, {@code --pacing},
   *     and {@code --tls}, two files {@code CHAIN:KEY}, {@code self-signed}, or {@code acme} with
   *     {@code --name}, {@code --acme-terms-agreed} and perhaps {@code --no-http}
   */
  public static ConfigurationReading parse(Map<String, String> words) {
    return new ConfigurationOptions(words).read();
  }

  private ConfigurationReading read() {
    String origin = words.getOrDefault("--origin", "");
    var file = SectionValues.of(Configuration.file());

    var listener = file.child(Configuration.LISTENERS, "");
    put(listener, ListenerSettings.ADDRESS, "--listen");
    putTls(listener, words.get("--tls"));
    file.add(Configuration.LISTENERS, listener.build());
    HostPort https = ListenerSettings.ADDRESS.type().parse(words.getOrDefault("--listen", ""));
    if ("acme".equals(words.get("--tls")) && https != null) {
      putAcme(file, https);
    }
    put(file, Configuration.LOOPS, "--loops");
    var engine = file.child(Configuration.ENGINE, "");
    put(engine, PaceSettings.PACING, "--pacing");
    file.add(Configuration.ENGINE, engine.build());

    var route = file.child(Configuration.ROUTES, "");
    if (isDirectory(origin)) {
      put(route, RouteActions.ROOT, "--origin");
    } else {
      var upstream = file.child(Configuration.UPSTREAMS, ONLY_UPSTREAM);
      var server = upstream.child(UpstreamGroup.ORIGINS, "");
      put(server, OriginSettings.URL, "--origin");
      file.add(
          Configuration.UPSTREAMS, upstream.add(UpstreamGroup.ORIGINS, server.build()).build());
      route.put(RouteSettings.UPSTREAM, ONLY_UPSTREAM);
    }
    file.add(Configuration.ROUTES, route.build());

    var cache = file.child(Configuration.CACHE, "");
    var store = cache.child(SharedCacheSettings.MEMORY, "");
    put(store, MemorySettings.CAPACITY, "--memory");
    file.add(Configuration.CACHE, cache.add(SharedCacheSettings.MEMORY, store.build()).build());

    var control = file.child(Configuration.ADMIN, "");
    put(control, AdminSettings.ADDRESS, "--admin");
    file.add(Configuration.ADMIN, control.build());

    return CrossChecks.conclude(file.build(), problems);
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
      put(tls, TlsSettings.NAMES, "--name");
    } else {
      var files = tls.child(TlsSettings.CERTIFICATES, "");
      put(files, CertificateFiles.CHAIN, "--tls", text.substring(0, colon));
      put(files, CertificateFiles.KEY, "--tls", text.substring(colon + 1));
      tls.add(TlsSettings.CERTIFICATES, files.build());
    }
    listener.add(ListenerSettings.TLS, tls.build());
  }

  /** The port of clear text beside it: there, authorities ask and browsers begin. */
  private void putAcme(SectionValues.Builder file, HostPort https) {
    var acme = file.child(Configuration.ACME, "");
    put(acme, AcmeSettings.TERMS_AGREED, "--acme-terms-agreed");
    file.add(Configuration.ACME, acme.build());
    if (!words.containsKey("--no-http")) {
      var clear = file.child(Configuration.LISTENERS, "");
      clear.put(ListenerSettings.ADDRESS, new HostPort(https.host(), HTTP_PORT));
      clear.put(ListenerSettings.REDIRECT, https.port());
      file.add(Configuration.LISTENERS, clear.build());
    }
  }

  private <T> void put(SectionValues.Builder values, Setting<T> setting, String option) {
    put(values, setting, option, words.get(option));
  }

  private <T> void put(
      SectionValues.Builder values, Setting<T> setting, String option, @Nullable String text) {
    if (text == null) {
      return;
    }
    T value = setting.type().parse(text);
    if (value == null) {
      String expected = setting.type().expected();
      problems.add(Problem.Mistake.VALUE, Position.NOWHERE, option, Problems.quote(text), expected);
    } else {
      values.put(setting, value);
    }
  }
}

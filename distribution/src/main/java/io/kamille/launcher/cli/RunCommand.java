package io.kamille.launcher.cli;

import io.kamille.launcher.configuration.ConfigurationOptions;
import io.kamille.launcher.configuration.ConfigurationReading;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/** {@code kamille run}: the proxy, by a file or by a few words. */
@Command(
    name = "run",
    customSynopsis = {
      "kamille run --config FILE",
      "kamille run --listen ADDRESS --origin URL [--admin ADDRESS]",
      "            [--tls CHAIN:KEY] [--memory SIZE] [--loops N] [--pacing PACE]",
      "kamille run --listen ADDRESS --origin URL --tls acme --name NAME",
      "            --acme-terms-agreed [--no-http]"
    },
    description = "Run the proxy, with a file or with a listener and an origin.",
    footer = {
      "",
      "SIGTERM and SIGINT stop accepting, let exchanges finish and exit with 0;",
      "a second one exits at once. SIGHUP reads the file again and reopens the",
      "access log. SIGUSR1 reopens the access log alone.",
      "",
      "Examples:",
      "  kamille run --config /etc/kamille/kamille.yaml",
      "  kamille run --listen 127.0.0.1:8080 --origin http://127.0.0.1:9000",
      "  kamille run --listen :443 --tls acme --name shop.example.org \\",
      "      --acme-terms-agreed --origin http://127.0.0.1:9000"
    })
final class RunCommand extends Subcommand implements Callable<Integer> {

  @ArgGroup private Source source = new Source();

  /** Where the configuration comes from. */
  static final class Source {

    @Option(
        names = {"-c", "--config"},
        paramLabel = "FILE",
        required = true,
        description = "The configuration file.")
    @Nullable Path file;

    @ArgGroup(exclusive = false)
    @Nullable Words words;
  }

  /** A configuration without a file. */
  static final class Words {

    @Option(
        names = "--listen",
        paramLabel = "ADDRESS",
        required = true,
        description = "Where to listen, such as 127.0.0.1:8080, [::1]:8080 or :8080.")
    String listen = "";

    @Option(
        names = "--origin",
        paramLabel = "URL",
        required = true,
        description =
            "The origin server, such as http://127.0.0.1:9000, or a directory whose files to send.")
    String origin = "";

    @Option(
        names = "--admin",
        paramLabel = "ADDRESS",
        description = "Where health, metrics and the API are served, or off.")
    @Nullable String admin;

    @Option(
        names = "--memory",
        paramLabel = "SIZE",
        description = "Memory for stored responses, such as 512MiB.")
    @Nullable String memory;

    @Option(names = "--loops", paramLabel = "N", description = "How many event loops run.")
    @Nullable String loops;

    @Option(
        names = "--tls",
        paramLabel = "CHAIN:KEY",
        description =
            "Certificate chain and private key, two PEM files, to serve HTTPS; or acme, to have"
                + " certificates ordered; or self-signed, to try.")
    @Nullable String tls;

    @Option(
        names = "--name",
        paramLabel = "NAME",
        description = "With --tls acme: the names that certificates are for, with commas.")
    @Nullable String name;

    @Option(
        names = "--acme-terms-agreed",
        description = "With --tls acme: you agree to the terms of Let's Encrypt.")
    boolean isAgreed;

    @Option(
        names = "--no-http",
        description =
            "With --tls acme: do not listen on port 80 as well, for challenges and a redirect.")
    boolean isHttpsAlone;

    @Option(
        names = "--pacing",
        paramLabel = "PACE",
        description = "How loops poll: adaptive, off, or at a fixed interval such as 500us.")
    @Nullable String pacing;
  }

  @Override
  public Integer call() throws Exception {
    Words words = source.words;
    if (words != null
        && !"acme".equals(words.tls)
        && (words.name != null || words.isAgreed || words.isHttpsAlone)) {
      throw misuse("--name, --acme-terms-agreed and --no-http need --tls acme");
    }
    VersionedFile versions = read();
    if (words != null
        && "acme".equals(words.tls)
        && !words.isHttpsAlone
        && versions.reading() instanceof ConfigurationReading.Accepted) {
      err()
          .println(
              "port 80 is opened as well, for challenges and a redirect (--no-http: it is not)");
    }
    return Running.run(versions, err());
  }

  private VersionedFile read() {
    if (source.file != null) {
      return new VersionedFile(source.file);
    }
    if (source.words == null) {
      throw misuse("nothing to run: give --config FILE, or --listen ADDRESS and --origin URL");
    }
    Map<String, String> words = new HashMap<>();
    for (OptionSpec option : spec().commandLine().getParseResult().matchedOptions()) {
      words.put(option.longestName(), String.valueOf(option.<Object>getValue()));
    }
    return new VersionedFile(ConfigurationOptions.parse(words));
  }
}

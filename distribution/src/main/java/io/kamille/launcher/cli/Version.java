package io.kamille.launcher.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.Properties;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/** {@code kamille version}. */
@Command(name = "version", description = "Print the version and what it runs on.")
final class Version extends Subcommand implements IVersionProvider, Runnable {

  /** The version of this build, which the build writes into {@code version.properties}. */
  static String number() {
    Properties written = new Properties();
    try (InputStream in = Version.class.getResourceAsStream("version.properties")) {
      written.load(Objects.requireNonNull(in, "version.properties"));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return written.getProperty("version");
  }

  @Override
  public String[] getVersion() {
    return new String[] {"kamille " + number(), "java " + Runtime.version(), "netty " + netty()};
  }

  @Override
  public void run() {
    for (String line : getVersion()) {
      out().println(line);
    }
  }

  private static String netty() {
    var version = io.netty.util.Version.identify().get("netty-transport");
    return version == null ? "unknown" : version.artifactVersion();
  }
}

package io.kamille.launcher.cli;

import picocli.CommandLine.IVersionProvider;

/** What {@code kamille version} prints. */
final class Version implements IVersionProvider {

  /** The version of this build, from the jar's manifest; {@code dev} outside a jar. */
  static String number() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "dev" : version;
  }

  @Override
  public String[] getVersion() {
    return new String[] {"kamille " + number(), "java " + Runtime.version(), "netty " + netty()};
  }

  private static String netty() {
    var version = io.netty.util.Version.identify().get("netty-transport");
    return version == null ? "unknown" : version.artifactVersion();
  }
}

package io.kamille.launcher.configuration;

/** Configuration files, from octets that a guided fuzzer thinks of. */
public final class ConfigurationFuzzTarget {

  private ConfigurationFuzzTarget() {}

  /** Called for each input. */
  public static void fuzzerTestOneInput(byte[] input) {
    ConfigurationFileFuzzTest.check(input, 0);
  }
}

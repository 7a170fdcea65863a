package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationOptions;
import io.kamille.launcher.configuration.ConfigurationReading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PreflightTest {

  @TempDir private Path proc;

  @Test
  void enoughOfEverythingIsFine() throws IOException {
    system("1024", 2048);
    assertThatCode(() -> new Preflight(proc).check(cacheOf("1GiB"), false))
        .doesNotThrowAnyException();
  }

  @Test
  void tooFewDescriptorsAreOneSentence() throws IOException {
    system("256", 2048);
    assertThatThrownBy(() -> new Preflight(proc).check(cacheOf("64MiB"), false))
        .isInstanceOfSatisfying(
            StartFailure.class,
            failure -> assertThat(failure.kind()).isEqualTo(StartFailure.Kind.SYSTEM))
        .hasMessageStartingWith("too few file descriptors: 256 allowed, at least 512 needed");
  }

  @Test
  void tooLittleMemoryIsOneSentence() throws IOException {
    system("1024", 512);
    assertThatThrownBy(() -> new Preflight(proc).check(cacheOf("1GiB"), false))
        .hasMessage(
            "too little memory: 512 MiB available, 1024 MiB asked for by cache.memory.capacity");
  }

  @Test
  void connectionsAreAsManyAsDescriptorsAllow() throws IOException {
    system("1024", 2048);
    assertThat(new Preflight(proc).connections(8192)).isEqualTo(412);
    assertThat(new Preflight(proc).connections(100)).isEqualTo(100);
    system("unlimited", 2048);
    assertThat(new Preflight(proc).connections(8192)).isEqualTo(8192);
  }

  @Test
  void whatCannotBeReadIsNotTooLittle() {
    assertThatCode(() -> new Preflight(proc).check(cacheOf("1TiB"), false))
        .doesNotThrowAnyException();
    assertThat(new Preflight(proc).connections(8192)).isEqualTo(8192);
  }

  private void system(String descriptors, int mebibytes) throws IOException {
    Files.createDirectories(proc.resolve("self"));
    Files.writeString(
        proc.resolve("self/limits"),
        """
        Limit                     Soft Limit           Hard Limit           Units
        Max processes             95500                95500                processes
        Max open files            DESCRIPTORS 1048576              files
        """
            .replace("DESCRIPTORS", descriptors));
    Files.writeString(
        proc.resolve("meminfo"),
        """
        MemTotal:       24617000 kB
        MemFree:               1 kB
        MemAvailable:   AVAILABLE kB
        """
            .replace("AVAILABLE", Integer.toString(mebibytes * 1024)));
  }

  private static Configuration cacheOf(String capacity) {
    return switch (ConfigurationOptions.parse(
        Map.of(
            "--listen",
            "127.0.0.1:0",
            "--origin",
            "http://127.0.0.1:9",
            "--admin",
            "off",
            "--memory",
            capacity))) {
      case ConfigurationReading.Accepted(Configuration accepted) -> accepted;
      case ConfigurationReading.Refused refused -> throw new AssertionError(refused.problems());
    };
  }
}

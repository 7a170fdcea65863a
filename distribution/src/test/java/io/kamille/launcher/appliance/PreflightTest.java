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
    assertThatCode(() -> preflight().check(cacheOf("1GiB"))).doesNotThrowAnyException();
  }

  @Test
  void tooFewDescriptorsAreOneSentence() throws IOException {
    system("256", 2048);
    assertThatThrownBy(() -> preflight().check(cacheOf("64MiB")))
        .isInstanceOfSatisfying(
            StartFailure.class,
            failure -> assertThat(failure.kind()).isEqualTo(StartFailure.Cause.SYSTEM))
        .hasMessageStartingWith("too few file descriptors: 256 allowed, at least 512 needed");
  }

  @Test
  void tooLittleMemoryIsOneSentence() throws IOException {
    system("1024", 512);
    assertThatThrownBy(() -> preflight().check(cacheOf("1GiB")))
        .hasMessage(
            "too little memory: 512 MiB available, 1024 MiB asked for by cache.memory.capacity");
  }

  @Test
  void connectionsAreAsManyAsDescriptorsAllow() throws IOException {
    system("1024", 2048);
    assertThat(preflight().connections(8192)).isEqualTo(412);
    assertThat(preflight().connections(100)).isEqualTo(100);
    system("unlimited", 2048);
    assertThat(preflight().connections(8192)).isEqualTo(8192);
  }

  @Test
  void whatCannotBeReadIsNotTooLittle() {
    assertThatCode(() -> preflight().check(cacheOf("1TiB"))).doesNotThrowAnyException();
    assertThat(preflight().connections(8192)).isEqualTo(8192);
  }

  /** By files as the kernel has them, in both versions; the outer group has the lower limit. */
  @Test
  void theControlGroupsAroundAProcessLimitItsMemory() throws IOException {
    system("1024", 8192);
    write("self/status", "RssAnon:\t   51200 kB\nRssShmem:\t 0 kB\n");
    write("self/cgroup", "0::/outer/inner\n");
    write("groups/outer/inner/memory.max", "max\n");
    write("groups/outer/memory.max", "314572800\n");
    write("groups/outer/memory.current", "157286400\n");
    write("groups/outer/memory.stat", "anon 1\ninactive_file 52428800\nactive_file 52428800\n");
    assertTooLittle("the control group allows 300 MiB, 352 MiB needed by");
    write("groups/outer/memory.max", "1073741824\n");
    assertThatCode(() -> preflight().check(cacheOf("256MiB"))).doesNotThrowAnyException();
    write("self/cgroup", "4:cpu,memory:/of/the/host\n3:pids:/x\n");
    write("groups/memory/memory.limit_in_bytes", "209715200\n");
    write("groups/memory/memory.usage_in_bytes", "104857600\n");
    write("groups/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 41943040\n");
    assertTooLittle("the control group allows 190 MiB, 352 MiB needed by");
    write("groups/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assertThatCode(() -> preflight().check(cacheOf("256MiB"))).doesNotThrowAnyException();
  }

  @Test
  void theControlGroupLimitsItsThreads() throws IOException {
    system("1024", 8192);
    write("self/cgroup", "0::/inner\n");
    write("groups/inner/pids.max", "20\n");
    write("groups/inner/pids.current", "15\n");
    assertTooLittle("too few threads: the control group allows 5 more, ");
    write("groups/inner/pids.max", "max\n");
    assertThatCode(() -> preflight().check(cacheOf("256MiB"))).doesNotThrowAnyException();
  }

  private void assertTooLittle(String sentence) {
    assertThatThrownBy(() -> preflight().check(cacheOf("256MiB")))
        .isInstanceOfSatisfying(
            StartFailure.class,
            failure -> assertThat(failure.kind()).isEqualTo(StartFailure.Cause.SYSTEM))
        .hasMessageContaining(sentence);
    assertThat(preflight().advice(cacheOf("256MiB"))).contains(sentence);
  }

  private Preflight preflight() {
    return new Preflight(proc, proc.resolve("groups"));
  }

  private void write(String file, String content) throws IOException {
    Files.createDirectories(proc.resolve(file).getParent());
    Files.writeString(proc.resolve(file), content);
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

package io.kamille.launcher;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code bin/kamille} in an appliance of its own, with Javas that only say what they were asked.
 */
class LauncherScriptTest {

  @TempDir private Path directory;
  private Path home;
  private Path script;

  @BeforeEach
  void copyTheScript() throws IOException {
    home = Files.createDirectories(directory.toRealPath().resolve("kamille"));
    script = home.resolve("bin/kamille");
    Files.createDirectories(script.getParent());
    Files.copy(Path.of("src/main/appliance/bin/kamille"), script);
    makeExecutable(script);
  }

  @Test
  void theBundledRuntimeComesFirst() throws Exception {
    java(home.resolve("runtime"), "bundled", 25);
    Path other = java(directory.resolve("other"), "other", 25);
    assertThat(run(script, Map.of("JAVA_HOME", other.toString()), "version"))
        .startsWith("bundled ")
        .contains("-cp " + home + "/lib/kamille.jar io.kamille.launcher.Main version");
  }

  @Test
  void aCacheOfClassesThatIsOlderThanAJarIsPassedOver() throws Exception {
    java(home.resolve("runtime"), "bundled", 25);
    Files.createDirectories(home.resolve("lib"));
    Path cache = Files.createFile(home.resolve("kamille.aot"));
    Path jar = Files.createFile(home.resolve("lib/other.jar"));
    FileTime made = FileTime.fromMillis(1_000_000);
    Files.setLastModifiedTime(cache, made);
    Files.setLastModifiedTime(jar, made);
    assertThat(run(script, Map.of(), "version")).contains("-XX:AOTCache=" + cache + " ");
    Files.setLastModifiedTime(jar, FileTime.fromMillis(2_000_000));
    assertThat(run(script, Map.of(), "version")).doesNotContain("AOTCache");
  }

  @Test
  @Timeout(30)
  void theFirstRunOfAPackageWithoutACacheMakesOne() throws Exception {
    bundledThatRecords();
    Map<String, String> environment = Map.of("STATE_DIRECTORY", state().toString());
    Path cache = state().resolve("kamille-4711.aot");
    Path old = Files.createFile(Files.createDirectories(state()).resolve("kamille-42.aot"));
    assertThat(run(script, environment, "version")).doesNotContain("AOTCache");
    assertThat(old).exists();
    assertThat(run(script, environment, "run")).doesNotContain("AOTCache");
    while (!Files.exists(cache)) {
      Thread.onSpinWait();
    }
    assertThat(cache).content().startsWith(" " + state() + "/training.");
    assertThat(old).doesNotExist();
    assertThat(run(script, environment, "run")).contains("-XX:AOTCache=" + cache + " ");
  }

  /** Else a new version would start without it, and a process that is handed sockets makes none. */
  @Test
  void anInstallationMakesTheCacheBeforeTheFirstRun() throws Exception {
    bundledThatRecords();
    Map<String, String> environment = Map.of("STATE_DIRECTORY", state().toString());
    assertThat(run(script, environment, "train")).isEmpty();
    Path cache = state().resolve("kamille-4711.aot");
    assertThat(cache).exists();
    assertThat(run(script, environment, "run")).contains("-XX:AOTCache=" + cache + " ");
  }

  private Path state() throws IOException {
    return directory.toRealPath().resolve("state");
  }

  private void bundledThatRecords() throws IOException {
    Path java = java(home.resolve("runtime"), "bundled", 25).resolve("bin/java");
    Files.writeString(
        java,
        Files.readString(java)
            .replace(
                "echo bundled",
                """
                case "$*" in *TrainingRun*)
                  while [ "$1" != TrainingRun ]; do shift; done
                  echo "${HOME:-} $STATE_DIRECTORY $KAMILLE_COMPILER" >"$3"
                  exit
                esac
                echo bundled\
                """));
    Files.writeString(home.resolve("untrained"), "4711\n");
  }

  @Test
  void anOldJavaIsPassedOver() throws Exception {
    Path old = java(directory.resolve("old"), "old", 17);
    Path recent = java(directory.resolve("recent"), "recent", 26);
    assertThat(
            run(
                script,
                Map.ofEntries(
                    entry("JAVA_HOME", old.toString()),
                    entry("PATH", recent.resolve("bin") + ":" + System.getenv("PATH"))),
                "version"))
        .startsWith("recent ");
  }

  @Test
  void theHomeIsFoundThroughLinks() throws Exception {
    java(home.resolve("runtime"), "bundled", 25);
    Path absolute = Files.createSymbolicLink(directory.resolve("absolute"), script);
    Path relative = Files.createSymbolicLink(directory.resolve("relative"), Path.of("absolute"));
    assertThat(run(absolute, Map.of())).contains("-Dkamille.home=" + home + " ");
    assertThat(run(relative, Map.of())).contains("-Dkamille.home=" + home + " ");
  }

  @Test
  void wordsStayWholeAndOptionsAreSplit() throws Exception {
    java(home.resolve("runtime"), "bundled", 25);
    assertThat(run(script, Map.of("KAMILLE_JAVA_OPTS", "-Xmx64m -Xlog:gc"), "a b", "*"))
        .contains(" -Xmx64m -Xlog:gc ")
        .endsWith("Main a b *\nwords: 2\n");
  }

  @Test
  void oneCoreGetsTheQuickCompilerOnly() throws Exception {
    java(home.resolve("runtime"), "bundled", 25);
    String one = processors(1);
    String said =
        "kamille: one core: it gets the quick compiler only (KAMILLE_COMPILER=full brings both)\n";
    assertThat(run(script, Map.of("PATH", one), "run"))
        .startsWith(said)
        .contains(" -XX:TieredStopAtLevel=1 -XX:NewRatio=1 -Dkamille.home=");
    assertThat(run(script, Map.of("PATH", one), "version"))
        .startsWith("bundled ")
        .contains(" -XX:TieredStopAtLevel=1 ");
    assertThat(run(script, Map.of("PATH", one, "KAMILLE_COMPILER", "full"), "run"))
        .startsWith("bundled ")
        .contains(" -XX:NewRatio=1 ")
        .doesNotContain("TieredStopAtLevel");
    assertThat(run(script, Map.of("PATH", processors(2), "KAMILLE_COMPILER", "quick"), "run"))
        .startsWith("bundled ")
        .contains(" -XX:TieredStopAtLevel=1 ")
        .doesNotContain("NewRatio");
  }

  @Test
  void theTrainingHasTheCompilerOfTheStart() throws Exception {
    bundledThatRecords();
    for (String compiler : List.of("quick", "full")) {
      Files.deleteIfExists(state().resolve("kamille-4711.aot"));
      var environment = Map.of("STATE_DIRECTORY", state().toString(), "KAMILLE_COMPILER", compiler);
      run(script, environment, "train");
      assertThat(state().resolve("kamille-4711.aot")).content().endsWith(" " + compiler + "\n");
    }
  }

  /** A PATH on which the system says that it has so many. */
  private String processors(int count) throws IOException {
    Path nproc = Files.createDirectories(directory.resolve("path")).resolve("nproc");
    Files.writeString(nproc, "#!/bin/sh\necho " + count + "\n");
    makeExecutable(nproc);
    return nproc.getParent() + ":" + System.getenv("PATH");
  }

  /** SIGHUP, SIGUSR1 and SIGUSR2 are bits 0, 9 and 11 of what the kernel tells. */
  @Test
  void signalsEndNoStartAndNamesOfFilesAreUtf8() throws Exception {
    Path runtime = java(home.resolve("runtime"), "bundled", 25);
    Files.writeString(
        runtime.resolve("bin/java"), "#!/bin/sh\ngrep SigIgn /proc/$$/status\necho $LC_ALL\n");
    Map<String, String> latin = Map.of("LC_ALL", "de_DE.ISO-8859-1");
    List<String> lines = run(script, latin, "run").lines().toList();
    long ignored = Long.parseLong(lines.getFirst().replaceAll(".*\\s", ""), 16);
    assertThat(ignored & 0xa01).isEqualTo(0xa01);
    assertThat(lines.getLast()).isEqualTo("C.UTF-8");
  }

  @Test
  void tooFewDescriptorsForJavaAre71BeforeItIsStarted() throws Exception {
    java(home.resolve("runtime"), "bundled", 25);
    Process process =
        new ProcessBuilder("sh", "-c", "ulimit -n 24; exec \"$0\" run", script.toString())
            .redirectErrorStream(true)
            .start();
    assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .isEqualTo(
            "kamille: too few file descriptors: 24 allowed, at least 512 needed"
                + " (raise the limit by `ulimit -n` or LimitNOFILE=)\n");
    assertThat(process.waitFor()).isEqualTo(71);
  }

  private static Path java(Path javaHome, String name, int major) throws IOException {
    Path java = javaHome.resolve("bin/java");
    Files.createDirectories(java.getParent());
    Files.writeString(
        java,
        """
        #!/bin/sh
        if [ "$1" = -version ]; then
          echo 'openjdk version "MAJOR.0.1" 2026-01-20' >&2
          exit
        fi
        echo NAME "$@"
        while [ "$1" != io.kamille.launcher.Main ]; do shift; done
        echo words: $(($# - 1))
        """
            .replace("MAJOR", Integer.toString(major))
            .replace("NAME", name));
    makeExecutable(java);
    return javaHome;
  }

  private String run(Path command, Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(List.of(command.toString()));
    words.addAll(List.of(arguments));
    var builder = new ProcessBuilder(words).redirectErrorStream(true);
    builder.environment().remove("JAVA_HOME");
    builder.environment().remove("KAMILLE_JAVA_OPTS");
    builder.environment().remove("KAMILLE_COMPILER");
    builder.environment().putAll(environment);
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }

  private static void makeExecutable(Path file) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}

package io.kamille.perf.option;

import java.io.IOException;
import java.util.List;

/**
 * Something that can be run by name.
 *
 * @param help a line or two about it
 * @param action what it does with its options
 */
public record Command(String name, String help, Options options, Action action) {

  /** What a command does. */
  @FunctionalInterface
  public interface Action {

    /**
     * Does it.
     *
     * @throws IOException if the machine lacks what is needed, with what to do about it
     */
    void run(Chosen chosen) throws IOException, InterruptedException;
  }

  /**
   * Runs it with these words.
   *
   * @throws IllegalArgumentException if one is not understood
   * @throws IOException if the machine lacks what is needed, with what to do about it
   */
  public void run(List<String> words) throws IOException, InterruptedException {
    action.run(options.parse(words));
  }
}

"""`klokka completion`: the script that teaches a shell the commands, options and states."""

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash: eval "$(klokka completion bash)"           in ~/.bashrc
    zsh:  eval "$(klokka completion zsh)"            in ~/.zshrc
    fish: klokka completion fish > ~/.config/fish/completions/klokka.fish
    """
    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"completion of {shell} is unknown here.")
    root = context.find_root().command
    click.echo(script(root, {}, "klokka", "_KLOKKA_COMPLETE").source())

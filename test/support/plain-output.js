// Jest's workers set FORCE_COLOR where the terminal has colours. Programs that tests start would print them.
delete process.env.FORCE_COLOR;

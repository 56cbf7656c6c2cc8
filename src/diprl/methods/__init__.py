"""The methods: each one is an agent, a preset and what to do with the trained agent."""
